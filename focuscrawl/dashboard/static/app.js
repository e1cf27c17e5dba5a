// Keys: letters press the button or link that names them, / goes to the search field, j and k walk through a list.
"use strict";
// on a phone, the row of views is wider than the screen
document.querySelector("header nav [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const at = document.activeElement;
  if (at && at.matches("input:not([type=checkbox]), select, textarea")) {
    if (event.key === "Escape") at.blur();
    return;
  }
  const key = event.key.toLowerCase();
  if (key === "/") {
    const field = document.querySelector("[data-search]");
    if (field) {
      event.preventDefault();
      field.focus();
      field.select();
    }
    return;
  }
  if (!/^[a-z]$/.test(key)) return;
  const named = document.querySelector(`[data-key="${key}"]`);
  if (named) {
    event.preventDefault();
    named.click();
    return;
  }
  if (key === "j" || key === "k") {
    const links = [...document.querySelectorAll("[data-rows] tbody tr, [data-rows] > li")]
      .map((row) => row.querySelector("a"))
      .filter(Boolean);
    const place = links.indexOf(at);
    const next = links[key === "j" ? place + 1 : Math.max(0, place - 1)];
    if (next) next.focus();
  }
});
