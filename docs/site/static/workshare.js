// SPDX-License-Identifier: MIT
//
// The button for light and dark pages. furo has one, but Debian 12's script of it does not start, because it is a module that is
// loaded as none. Where furo's works it has taken the class no-js away by then.
document.addEventListener("DOMContentLoaded", () => setTimeout(() => {
    if (!document.documentElement.classList.contains("no-js"))
        return;
    document.documentElement.classList.remove("no-js");
    const next = {auto: "dark", dark: "light", light: "auto"};
    for (const button of document.querySelectorAll(".theme-toggle"))
        button.addEventListener("click", () => {
            const theme = next[document.body.dataset.theme] || "auto";
            document.body.dataset.theme = theme;
            localStorage.setItem("theme", theme);
        });
}));
