// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors
//
// Every page is whole without this. It adds the local time to each time, and looks for what is new while somebody looks.
"use strict";

// A time as the title of its element: in the time zone of whoever reads.
function addLocalTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const moment = new Date(time.dateTime);
    if (!Number.isNaN(moment.getTime())) time.title = moment.toLocaleString(undefined, { timeZoneName: "short" });
  }
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
  addLocalTimes(page);
  main.replaceChildren(...fresh.childNodes);
  for (const id of ["database", "revision", "made"]) {
    const old = document.getElementById(id);
    const now = page.getElementById(id);
    if (old && now) old.replaceWith(now);
  }
}

addLocalTimes(document);
const seconds = Number(document.getElementById("content").dataset.refresh);
if (seconds > 0) setInterval(refresh, seconds * 1000);
