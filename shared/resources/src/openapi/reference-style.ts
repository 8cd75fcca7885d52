/** The stylesheet of the reference page. */
export const referenceStyle = `
:root { color-scheme: light dark; --line: #8884; --accent: #06c; }
@media (prefers-color-scheme: dark) { :root { --accent: #6bf; } }
body { margin: 0 auto; max-width: 70rem; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; }
a { color: var(--accent); }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1rem; list-style: none; padding: 0; }
section { border-top: 1px solid var(--line); }
details { border: 1px solid var(--line); border-radius: .4rem; margin: .5rem 0; padding: .4rem .8rem; }
summary { cursor: pointer; overflow-wrap: anywhere; }
summary b { display: inline-block; min-width: 4.5rem; font-family: ui-monospace, monospace; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .5rem; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
pre { overflow-x: auto; border: 1px solid var(--line); border-radius: .4rem; padding: .6rem; max-height: 30rem; }
`;
