// A browser in the locale POSIX calls its language `en-US@posix`, which is none: no curve would be drawn.
try { new Intl.NumberFormat(navigator.language); }
catch { Object.defineProperty(navigator, "language", { value: "en-US" }); }
