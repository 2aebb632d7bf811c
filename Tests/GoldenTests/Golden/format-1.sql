--
-- PostgreSQL database dump
--

\restrict 0r20NH50oEodfc7ACKAfqHjBqgnfcD3pBIbqVppHO2Lff3TyNrTsbwt5zehjGWX

-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: golden; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA golden;


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: Box; Type: TABLE; Schema: golden; Owner: -
--

CREATE TABLE golden."Box" (
    _id bigint NOT NULL,
    _version bigint NOT NULL,
    label text COLLATE pg_catalog."C"
)
WITH (fillfactor='75');


--
-- Name: Box.order; Type: TABLE; Schema: golden; Owner: -
--

CREATE TABLE golden."Box.order" (
    owner bigint NOT NULL,
    rank bigint NOT NULL,
    member bigint NOT NULL
);


--
-- Name: Item; Type: TABLE; Schema: golden; Owner: -
--

CREATE TABLE golden."Item" (
    _id bigint NOT NULL,
    _entity smallint NOT NULL,
    _version bigint NOT NULL,
    "boolValue" boolean,
    "int16Value" smallint,
    "int32Value" integer,
    "int64Value" bigint,
    "floatValue" real,
    "doubleValue" double precision,
    "decimalValue" numeric,
    "stringValue" text COLLATE pg_catalog."C",
    "dateValue" timestamp with time zone,
    "uuidValue" uuid,
    "dataValue" bytea,
    "urlValue" text COLLATE pg_catalog."C",
    box bigint,
    note text COLLATE pg_catalog."C"
)
WITH (fillfactor='75');


--
-- Name: Item.tags; Type: TABLE; Schema: golden; Owner: -
--

CREATE TABLE golden."Item.tags" (
    owner bigint NOT NULL,
    rank bigint NOT NULL,
    member bigint NOT NULL
);


--
-- Name: Tag; Type: TABLE; Schema: golden; Owner: -
--

CREATE TABLE golden."Tag" (
    _id bigint NOT NULL,
    _version bigint NOT NULL,
    name text COLLATE pg_catalog."C"
)
WITH (fillfactor='75');


--
-- Name: polystore_history; Type: TABLE; Schema: golden; Owner: -
--

CREATE TABLE golden.polystore_history (
    "position" bigint NOT NULL,
    "time" bigint NOT NULL,
    author text NOT NULL,
    changes bytea NOT NULL
);


--
-- Name: polystore_keys.Box; Type: SEQUENCE; Schema: golden; Owner: -
--

CREATE SEQUENCE golden."polystore_keys.Box"
    START WITH 1
    INCREMENT BY 1000
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: polystore_keys.Item; Type: SEQUENCE; Schema: golden; Owner: -
--

CREATE SEQUENCE golden."polystore_keys.Item"
    START WITH 1
    INCREMENT BY 1000
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: polystore_keys.Tag; Type: SEQUENCE; Schema: golden; Owner: -
--

CREATE SEQUENCE golden."polystore_keys.Tag"
    START WITH 1
    INCREMENT BY 1000
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: polystore_metadata; Type: TABLE; Schema: golden; Owner: -
--

CREATE TABLE golden.polystore_metadata (
    key text NOT NULL,
    value text NOT NULL
);


--
-- Name: polystore_notes; Type: TABLE; Schema: golden; Owner: -
--

CREATE TABLE golden.polystore_notes (
    name text NOT NULL COLLATE pg_catalog."C",
    value bytea NOT NULL
);


--
-- Data for Name: Box; Type: TABLE DATA; Schema: golden; Owner: -
--

INSERT INTO golden."Box" VALUES (1, 1, 'B');


--
-- Data for Name: Box.order; Type: TABLE DATA; Schema: golden; Owner: -
--

INSERT INTO golden."Box.order" VALUES (1, 2097152, 1);
INSERT INTO golden."Box.order" VALUES (1, 3145728, 2);
INSERT INTO golden."Box.order" VALUES (1, 1048576, 3);


--
-- Data for Name: Item; Type: TABLE DATA; Schema: golden; Owner: -
--

INSERT INTO golden."Item" VALUES (1, 2, 1, true, -32768, 2147483647, -9223372036854775808, 0.5, 0.1, -12345678901234567890.125, 'Grüße, 世界 é', '0001-01-01 00:00:00+00', '00112233-4455-6677-8899-aabbccddeeff', '\x0001feff', 'https://example.com/a?b=c#d', 1, NULL);
INSERT INTO golden."Item" VALUES (2, 3, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 'nil everywhere else');


--
-- Data for Name: Item.tags; Type: TABLE DATA; Schema: golden; Owner: -
--

INSERT INTO golden."Item.tags" VALUES (1, 0, 1);
INSERT INTO golden."Item.tags" VALUES (1, 0, 3);


--
-- Data for Name: Tag; Type: TABLE DATA; Schema: golden; Owner: -
--

INSERT INTO golden."Tag" VALUES (1, 1, 'x');
INSERT INTO golden."Tag" VALUES (2, 1, 'y');
INSERT INTO golden."Tag" VALUES (3, 1, 'z');


--
-- Data for Name: polystore_history; Type: TABLE DATA; Schema: golden; Owner: -
--

INSERT INTO golden.polystore_history VALUES (542730, 1795298990102383, 'golden', '\x0100020101010101010200010103030304000005010401010101');


--
-- Data for Name: polystore_metadata; Type: TABLE DATA; Schema: golden; Owner: -
--

INSERT INTO golden.polystore_metadata VALUES ('schema', '{"version":"V1","entities":[{"name":"Box","attributes":[{"name":"label","type":"string"}],"relationships":[{"name":"items","to":"Item","kind":"toMany","inverse":"box"},{"name":"order","to":"Tag","kind":"toManyOrdered"}],"unique":[["label"]]},{"name":"Item","attributes":[{"name":"boolValue","type":"bool","optional":true},{"name":"int16Value","type":"int16","optional":true},{"name":"int32Value","type":"int32","optional":true},{"name":"int64Value","type":"int64","optional":true},{"name":"floatValue","type":"float","optional":true},{"name":"doubleValue","type":"double","optional":true},{"name":"decimalValue","type":"decimal","optional":true},{"name":"stringValue","type":"string","optional":true},{"name":"dateValue","type":"date","optional":true},{"name":"uuidValue","type":"uuid","optional":true},{"name":"dataValue","type":"data","optional":true},{"name":"urlValue","type":"url","optional":true}],"relationships":[{"name":"box","to":"Box","kind":"toOne","inverse":"items"},{"name":"tags","to":"Tag","kind":"toMany","inverse":"items"}],"indexes":[["int64Value"],["stringValue"]]},{"name":"Special","parent":"Item","attributes":[{"name":"note","type":"string","optional":true}]},{"name":"Tag","attributes":[{"name":"name","type":"string"}],"relationships":[{"name":"items","to":"Item","kind":"toMany","inverse":"tags"}]}]}');
INSERT INTO golden.polystore_metadata VALUES ('store', '25EAD668-A7A7-47DD-8A24-7344C37A0321');
INSERT INTO golden.polystore_metadata VALUES ('format', '1');
INSERT INTO golden.polystore_metadata VALUES ('hash', '88830a16054e52d16e5d1e71e00af2ae28a7560f09d2e95afd2d6438555946c5');
INSERT INTO golden.polystore_metadata VALUES ('entities', '1,2,3,4');


--
-- Data for Name: polystore_notes; Type: TABLE DATA; Schema: golden; Owner: -
--



--
-- Name: polystore_keys.Box; Type: SEQUENCE SET; Schema: golden; Owner: -
--

SELECT pg_catalog.setval('golden."polystore_keys.Box"', 1, true);


--
-- Name: polystore_keys.Item; Type: SEQUENCE SET; Schema: golden; Owner: -
--

SELECT pg_catalog.setval('golden."polystore_keys.Item"', 1, true);


--
-- Name: polystore_keys.Tag; Type: SEQUENCE SET; Schema: golden; Owner: -
--

SELECT pg_catalog.setval('golden."polystore_keys.Tag"', 1, true);


--
-- Name: Box.order Box.order_pkey; Type: CONSTRAINT; Schema: golden; Owner: -
--

ALTER TABLE ONLY golden."Box.order"
    ADD CONSTRAINT "Box.order_pkey" PRIMARY KEY (owner, member);


--
-- Name: Box Box_pkey; Type: CONSTRAINT; Schema: golden; Owner: -
--

ALTER TABLE ONLY golden."Box"
    ADD CONSTRAINT "Box_pkey" PRIMARY KEY (_id);


--
-- Name: Item.tags Item.tags_pkey; Type: CONSTRAINT; Schema: golden; Owner: -
--

ALTER TABLE ONLY golden."Item.tags"
    ADD CONSTRAINT "Item.tags_pkey" PRIMARY KEY (owner, member);


--
-- Name: Item Item_pkey; Type: CONSTRAINT; Schema: golden; Owner: -
--

ALTER TABLE ONLY golden."Item"
    ADD CONSTRAINT "Item_pkey" PRIMARY KEY (_id);


--
-- Name: Tag Tag_pkey; Type: CONSTRAINT; Schema: golden; Owner: -
--

ALTER TABLE ONLY golden."Tag"
    ADD CONSTRAINT "Tag_pkey" PRIMARY KEY (_id);


--
-- Name: polystore_history polystore_history_pkey; Type: CONSTRAINT; Schema: golden; Owner: -
--

ALTER TABLE ONLY golden.polystore_history
    ADD CONSTRAINT polystore_history_pkey PRIMARY KEY ("position");


--
-- Name: polystore_metadata polystore_metadata_pkey; Type: CONSTRAINT; Schema: golden; Owner: -
--

ALTER TABLE ONLY golden.polystore_metadata
    ADD CONSTRAINT polystore_metadata_pkey PRIMARY KEY (key);


--
-- Name: polystore_notes polystore_notes_pkey; Type: CONSTRAINT; Schema: golden; Owner: -
--

ALTER TABLE ONLY golden.polystore_notes
    ADD CONSTRAINT polystore_notes_pkey PRIMARY KEY (name);


--
-- Name: Box.order.member; Type: INDEX; Schema: golden; Owner: -
--

CREATE INDEX "Box.order.member" ON golden."Box.order" USING btree (member, owner);


--
-- Name: Box.unique.label; Type: INDEX; Schema: golden; Owner: -
--

CREATE UNIQUE INDEX "Box.unique.label" ON golden."Box" USING btree (label);


--
-- Name: Item.index.box; Type: INDEX; Schema: golden; Owner: -
--

CREATE INDEX "Item.index.box" ON golden."Item" USING btree (box NULLS FIRST, _id);


--
-- Name: Item.index.int64Value; Type: INDEX; Schema: golden; Owner: -
--

CREATE INDEX "Item.index.int64Value" ON golden."Item" USING btree ("int64Value" NULLS FIRST, _id);


--
-- Name: Item.index.stringValue; Type: INDEX; Schema: golden; Owner: -
--

CREATE INDEX "Item.index.stringValue" ON golden."Item" USING btree ("stringValue" NULLS FIRST, _id);


--
-- Name: Item.tags.member; Type: INDEX; Schema: golden; Owner: -
--

CREATE INDEX "Item.tags.member" ON golden."Item.tags" USING btree (member, owner);


--
-- PostgreSQL database dump complete
--

\unrestrict 0r20NH50oEodfc7ACKAfqHjBqgnfcD3pBIbqVppHO2Lff3TyNrTsbwt5zehjGWX

