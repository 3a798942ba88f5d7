"use strict";
// Asks this page's own address again and again, and puts the parts that are marked data-live in their place.
// A server that does not answer is said in words: what stands on the page is old then.
(() => {
  const every = Number(document.body.dataset.poll) * 1000, lost = document.getElementById("lost");
  const title = () => document.title.replace(/^\[no answer\] /, "");
  let heard = new Date(), timer = 0;

  function put(page) {
    for (const old of document.querySelectorAll("[data-live]")) {
      const fresh = page.getElementById(old.id);
      if (!fresh) throw new Error("another page");
      const held = old.contains(document.activeElement) ? document.activeElement : null;
      const link = held && held !== old ? held.getAttribute("href") : null;
      const next = document.importNode(fresh, true);
      old.replaceWith(next);
      if (held === old) next.focus({ preventScroll: true });
      for (const a of link === null ? [] : next.querySelectorAll("a")) {
        if (a.getAttribute("href") === link) { a.focus({ preventScroll: true }); break; }
      }
    }
    document.title = page.title;
  }

  async function look() {
    clearTimeout(timer);
    try {
      const answer = await fetch(location.pathname, { cache: "no-store", redirect: "error", signal: AbortSignal.timeout(90000) });
      if (!answer.ok) throw new Error(String(answer.status));
      put(new DOMParser().parseFromString(await answer.text(), "text/html"));
      heard = new Date();
      lost.hidden = true;
    } catch (error) {
      const at = `${heard.toISOString().slice(0, 16).replace("T", " ")} UTC`;
      const words = `No answer since ${at}: what stands here is old.`;
      if (lost.hidden || lost.textContent !== words) lost.textContent = words;
      lost.hidden = false;
      document.title = `[no answer] ${title()}`;
    }
    document.documentElement.dataset.looks = String(Number(document.documentElement.dataset.looks || 0) + 1);
    timer = setTimeout(look, every);
  }

  timer = setTimeout(look, every);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
})();
