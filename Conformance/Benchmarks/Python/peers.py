"""The work of the benchmarks by the object mapper of SQLAlchemy or Django, on SQLite with the same settings.

python3 peers.py sqlalchemy|django FILE COUNT reads names of workloads, one in a line, and answers each with the nanoseconds that it took.
Each uses the documented way to write many objects: the unit of work of SQLAlchemy, and bulk_create and bulk_update of Django.
"""

import datetime
import gc
import sys
import time

SETTINGS = ("page_size=8192", "cache_size=-65536", "journal_mode=WAL", "synchronous=FULL")


def values(index):
    """Returns the values of an object: those of the other sides (PersonValues)."""
    return dict(
        number=index * 7,
        name=f"Pers {10_000 + index % 9_000_000}",
        email=f"user{1_000_000 + index}@example.com",
        age=index * 31 % 100,
        score=index % 10_000 / 7,
        active=index % 3 == 0,
        created=datetime.datetime.fromtimestamp(1_700_000_000 + index / 4, datetime.timezone.utc),
        note=None if index % 2 == 0 else f"a note on person {index}",
    )


class SQLAlchemyPeer:
    def __init__(self, path):
        import sqlalchemy
        from sqlalchemy import orm

        class Base(orm.DeclarativeBase):
            pass

        class Person(Base):
            __tablename__ = "person"
            id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
            number: orm.Mapped[int]
            name: orm.Mapped[str]
            email: orm.Mapped[str]
            age: orm.Mapped[int]
            score: orm.Mapped[float]
            active: orm.Mapped[bool]
            created: orm.Mapped[datetime.datetime]
            note: orm.Mapped[str | None]

        self.engine = sqlalchemy.create_engine(f"sqlite:///{path}")

        @sqlalchemy.event.listens_for(self.engine, "connect")
        def configure(connection, _):
            for setting in SETTINGS:
                connection.execute(f"PRAGMA {setting}")

        Base.metadata.create_all(self.engine)
        self.person, self.session, self.select = Person, lambda: orm.Session(self.engine), sqlalchemy.select
        self.delete = sqlalchemy.delete

    def clear(self):
        with self.session() as session:
            session.execute(self.delete(self.person))
            session.commit()

    def create(self, rows):
        with self.session() as session:
            session.add_all([self.person(**row) for row in rows])
            session.commit()

    def fetch(self):
        with self.session() as session:
            return len(session.scalars(self.select(self.person)).all())

    def update(self):
        with self.session() as session:
            people = session.scalars(self.select(self.person)).all()
            for person in people:
                person.age += 1
            session.commit()
            return len(people)


class DjangoPeer:
    def __init__(self, path):
        import django
        from django.conf import settings

        database = dict(ENGINE="django.db.backends.sqlite3", NAME=path)
        database["OPTIONS"] = dict(init_command=";".join(f"PRAGMA {setting}" for setting in SETTINGS))
        settings.configure(DATABASES=dict(default=database), USE_TZ=True)
        django.setup()
        from django.db import connection, models, transaction

        class Person(models.Model):
            number = models.BigIntegerField()
            name = models.TextField()
            email = models.TextField()
            age = models.BigIntegerField()
            score = models.FloatField()
            active = models.BooleanField()
            created = models.DateTimeField()
            note = models.TextField(null=True)

            class Meta:
                app_label = "benchmark"

        with connection.schema_editor() as editor:
            editor.create_model(Person)
        self.person, self.transaction = Person, transaction

    def clear(self):
        self.person.objects.all().delete()

    def create(self, rows):
        self.person.objects.bulk_create([self.person(**row) for row in rows])

    def fetch(self):
        return len(list(self.person.objects.all()))

    def update(self):
        with self.transaction.atomic():
            people = list(self.person.objects.all())
            for person in people:
                person.age += 1
            self.person.objects.bulk_update(people, ["age"], batch_size=1000)
            return len(people)


def main():
    kind, path, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    peer = SQLAlchemyPeer(path) if kind == "sqlalchemy" else DjangoPeer(path)
    print("ready", flush=True)
    for line in sys.stdin:
        work = line.strip()
        if work == "create":
            peer.clear()
            rows = [values(index) for index in range(1, count + 1)]
            gc.collect()
            start = time.perf_counter_ns()
            peer.create(rows)
        else:
            gc.collect()
            start = time.perf_counter_ns()
            found = peer.fetch() if work == "fetch" else peer.update()
            if found != count:
                sys.exit(f"{found} objects instead of {count}")
        print(time.perf_counter_ns() - start, flush=True)


main()
