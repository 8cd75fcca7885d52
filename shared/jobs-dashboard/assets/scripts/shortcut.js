const SETTING = 'longshore-slash-key';

/** Focuses the search box when the slash key is pressed, unless the viewer has turned this off on the help page. */
export function listenForSlash() {
  document.addEventListener('keydown', (event) => {
    const search = document.getElementById('q');
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isOff()) return;
    if (!(search instanceof HTMLInputElement) || isTypedInto(event.target)) return;
    event.preventDefault();
    search.focus();
    search.select();
  });
  const button = document.getElementById('slash');
  if (!button) return;
  const say = () => (button.textContent = isOff() ? 'Turn this key on' : 'Turn this key off');
  button.hidden = false;
  button.addEventListener('click', () => {
    localStorage.setItem(SETTING, isOff() ? 'on' : 'off');
    say();
  });
  say();
}

function isOff() {
  return localStorage.getItem(SETTING) === 'off';
}

/** @param {EventTarget | null} target */
function isTypedInto(target) {
  return target instanceof Element && target.closest('input, textarea, select') !== null;
}
