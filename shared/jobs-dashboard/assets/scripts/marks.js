/** Makes each list's “select all” checkbox select or clear all rows, and shows how many rows are selected. */
export function countMarks() {
  showMarks();
  document.addEventListener('change', ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.type !== 'checkbox') return;
    if (target.classList.contains('mark-all')) {
      for (const box of boxesOf(target.form)) box.checked = target.checked;
    }
    showMarks();
  });
}

/** Updates the numbers of selected rows and the “select all” checkboxes. Also called after each refresh. */
export function showMarks() {
  for (const all of document.querySelectorAll('.mark-all')) {
    if (!(all instanceof HTMLInputElement)) continue;
    const boxes = boxesOf(all.form);
    const marked = boxes.filter(({ checked }) => checked).length;
    all.checked = marked > 0 && marked === boxes.length;
    all.indeterminate = marked > 0 && marked < boxes.length;
    const label = all.closest('label');
    if (label) label.hidden = false;
    const output = all.form?.querySelector('.marked');
    if (output) output.textContent = `${marked} selected`;
  }
}

/**
 * @param {HTMLFormElement | null} form
 * @returns {HTMLInputElement[]}
 */
function boxesOf(form) {
  return [...(form?.querySelectorAll('input[name=id]') ?? [])].filter(
    (box) => box instanceof HTMLInputElement,
  );
}
