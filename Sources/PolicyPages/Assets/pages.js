// Every page is whole without this. It adds the local time to each time, lets a phone show rows as cards, and looks for
// what is new while somebody looks.
"use strict";

// A time as the title of its element: in the time zone of whoever reads.
function addLocalTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const moment = new Date(time.dateTime);
    if (!Number.isNaN(moment.getTime())) time.title = moment.toLocaleString(undefined, { timeZoneName: "short" });
  }
}

// Names each cell after its column, so that pages.css can show a row as a card where a page is narrow. As the cells are no
// cells of a table to a browser then, their roles say so.
function nameCells(root) {
  for (const table of root.querySelectorAll(".scroll > table:not(.chart-table)")) {
    const names = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
    table.setAttribute("role", "table");
    for (const group of [table.tHead, ...table.tBodies]) {
      group.setAttribute("role", "rowgroup");
      for (const row of group.rows) {
        row.setAttribute("role", "row");
        for (const [column, cell] of [...row.cells].entries()) {
          const isHead = cell.tagName === "TH";
          cell.setAttribute("role", isHead ? (cell.scope === "row" ? "rowheader" : "columnheader") : "cell");
          if (!isHead && cell.colSpan === 1) cell.dataset.label = names[column];
        }
      }
    }
    table.classList.add("cards");
  }
}

// A button beside each command, where a browser lets a page write to the clipboard.
function addCopyButtons(root) {
  if (!navigator.clipboard) return;
  for (const code of root.querySelectorAll("pre > code")) {
    const button = document.createElement("button");
    button.className = "copy";
    button.type = "button";
    button.ariaLabel = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(code.textContent);
      button.ariaLabel = "Copied";
    });
    code.before(button);
  }
}

// A mark of a chart leads to its change, as the list below the chart does.
function linkMarks(root) {
  for (const mark of root.querySelectorAll("[data-change]")) {
    mark.addEventListener("click", () => location.assign(mark.dataset.change));
  }
}

function sharpen(root) {
  addLocalTimes(root);
  nameCells(root);
  addCopyButtons(root);
  linkMarks(root);
}

// Replaces what is shown by what the server has now; what is open stays open, and the page where it is.
async function refresh() {
  const main = document.getElementById("content");
  if (document.hidden || main.contains(document.activeElement) || String(window.getSelection()) !== "") return;
  let text;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store" });
    if (!answer.ok) return;
    text = await answer.text();
  } catch {
    return;
  }
  const page = new DOMParser().parseFromString(text, "text/html");
  const fresh = page.getElementById("content");
  if (!fresh) return;
  for (const details of main.querySelectorAll("details[open][id]")) {
    const same = fresh.querySelector("#" + CSS.escape(details.id));
    if (same) same.open = true;
  }
  sharpen(page);
  main.replaceChildren(...fresh.childNodes);
  for (const id of ["database", "revision", "made"]) {
    const old = document.getElementById(id);
    const now = page.getElementById(id);
    if (old && now) old.replaceWith(now);
  }
}

sharpen(document);
const seconds = Number(document.getElementById("content").dataset.refresh);
if (seconds > 0) setInterval(refresh, seconds * 1000);
