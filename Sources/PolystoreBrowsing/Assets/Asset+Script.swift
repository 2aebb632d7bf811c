extension Asset {
    /// The script of all pages: keys, the theme, numbers that take longer, and the live history.
    static let scriptText = #"""
        "use strict";
        (() => {
          const root = document.documentElement;
          const kept = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
          const keep = (theme) => { try { localStorage.setItem("theme", theme); } catch {} };
          if (kept()) root.dataset.theme = kept();

          const isDark = () => root.dataset.theme
            ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
          const toggleTheme = () => {
            root.dataset.theme = isDark() ? "light" : "dark";
            keep(root.dataset.theme);
          };

          // Rows
          const rows = () => [...document.querySelectorAll("table.rows tbody tr, ol.history > li")];
          const current = () => document.querySelector(".is-current");
          const select = (row) => {
            current()?.classList.remove("is-current");
            row.classList.add("is-current");
            row.scrollIntoView({ block: "nearest" });
          };
          const move = (step) => {
            const all = rows();
            if (all.length === 0) return false;
            const index = all.indexOf(current());
            const next = index < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(index + step, 0), all.length - 1);
            select(all[next]);
            return true;
          };
          const open = () => {
            const link = current()?.querySelector("a.open, a");
            if (link) link.click();
            return Boolean(link);
          };
          const follow = (selector) => {
            const link = document.querySelector(selector);
            if (link) link.click();
            return Boolean(link);
          };
          const go = (address) => { location.assign(address); return true; };

          // Keys
          let waitsForPage = false;
          const pages = { o: "/", s: "/schema", h: "/history" };
          const help = () => document.getElementById("help");
          const keys = {
            "j": () => move(1), "ArrowDown": () => move(1), "k": () => move(-1), "ArrowUp": () => move(-1),
            "Enter": open, "[": () => follow("a[rel=prev]"), "]": () => follow("a[rel=next]"),
            "u": () => follow("#up") || go("/"), "t": () => { toggleTheme(); return true; },
            "?": () => { help().showModal(); return true; },
            "/": () => {
              const field = document.getElementById("filter");
              field?.focus();
              field?.select();
              return Boolean(field);
            },
          };
          const isField = (element) => element instanceof HTMLElement
            && (element.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(element.tagName));
          document.addEventListener("keydown", (event) => {
            if (event.ctrlKey || event.metaKey || event.altKey) return;
            const target = event.target;
            if (isField(target)) {
              if (event.key === "Escape") target.blur();
              return;
            }
            if (help().open) {
              if (event.key === "?") { help().close(); event.preventDefault(); }
              return;
            }
            if (waitsForPage) {
              waitsForPage = false;
              if (pages[event.key]) { event.preventDefault(); go(pages[event.key]); }
              return;
            }
            if (event.key === "g") {
              waitsForPage = true;
              setTimeout(() => { waitsForPage = false; }, 1500);
              return;
            }
            if (event.key === "Escape") { current()?.classList.remove("is-current"); return; }
            // A link or button that has the focus keeps its own keys.
            if (event.key === "Enter" && target.closest("a, button, summary")) return;
            // A drawing that has the focus scrolls with the arrows.
            if (event.key.startsWith("Arrow") && target.closest(".drawing")) return;
            const action = keys[event.key];
            if (action && action()) event.preventDefault();
          });

          // Numbers that the server did not wait for
          const count = async (place) => {
            try {
              const answer = await fetch(place.dataset.count);
              place.textContent = answer.ok ? await answer.text() : "?";
              if (answer.ok) place.removeAttribute("title");
              else place.title = "The store needs too long to count these objects.";
            } catch {
              place.textContent = "?";
            }
            place.classList.remove("waiting");
          };

          // The history as it is written
          const listen = (sign) => {
            const list = document.getElementById("history");
            const source = new EventSource(sign.dataset.events);
            const state = (name, text) => { sign.className = "live " + name; sign.textContent = text; };
            source.onopen = () => state("on", "live");
            source.onerror = () => state("off", "connecting again");
            source.addEventListener("entry", (event) => {
              state("on", "live");
              document.getElementById("nothing")?.remove();
              list.insertAdjacentHTML("afterbegin", event.data);
              list.firstElementChild.classList.add("is-new");
              while (list.children.length > 500) list.lastElementChild.remove();
            });
            source.addEventListener("trouble", (event) => { state("off", "waiting"); sign.title = event.data; });
            source.addEventListener("well", () => { state("on", "live"); sign.removeAttribute("title"); });
            source.addEventListener("expired", (event) => { state("off", event.data); source.close(); });
            addEventListener("pagehide", () => source.close());
          };

          // The lines of an entity in the diagram
          const light = (box, isLit) => {
            const entity = box.dataset.entity;
            box.closest("svg").classList.toggle("has-lit", isLit);
            for (const edge of document.querySelectorAll(".edge")) {
              if (edge.dataset.a === entity || edge.dataset.b === entity) edge.classList.toggle("is-lit", isLit);
            }
          };

          document.addEventListener("DOMContentLoaded", () => {
            document.getElementById("theme").addEventListener("click", toggleTheme);
            document.getElementById("help-button").addEventListener("click", () => help().showModal());
            document.querySelectorAll("[data-count]").forEach(count);
            document.querySelectorAll("[data-events]").forEach(listen);
            document.querySelectorAll("nav.entities [aria-current]").forEach((link) => link.scrollIntoView({ block: "nearest" }));
            document.querySelectorAll(".box").forEach((box) => {
              box.addEventListener("mouseenter", () => light(box, true));
              box.addEventListener("mouseleave", () => light(box, false));
            });
            document.querySelectorAll("table.data tbody").forEach((body) => body.addEventListener("click", (event) => {
              if (event.target.closest("a") || String(getSelection())) return;
              const row = event.target.closest("tr");
              if (row) select(row);
            }));
            const field = document.getElementById("filter");
            if (field?.hasAttribute("autofocus")) field.setSelectionRange(field.value.length, field.value.length);
          });
        })();

        """#
}
