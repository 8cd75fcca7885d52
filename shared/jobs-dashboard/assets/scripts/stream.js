import { morph } from './morph.js';
import { showTimes } from './times.js';

/** Follows what a running job says of itself, as long as someone looks. */
export class Stream {
  #region;
  #ended;
  /** @type {EventSource | null} */
  #source = null;

  /**
   * @param {HTMLElement} region has the log; its `data-stream` says where it goes on
   * @param {() => void} ended called when the job has finished
   */
  constructor(region, ended) {
    this.#region = region;
    this.#ended = ended;
  }

  /** @param {boolean} looking */
  follow(looking) {
    if (looking === (this.#source !== null)) return;
    if (looking) this.#open();
    else this.#close();
  }

  #open() {
    const last = [...this.#region.querySelectorAll('[data-id]')].at(-1);
    const after = last instanceof HTMLElement ? (last.dataset['id'] ?? '') : '';
    const source = new EventSource(`${this.#region.dataset['stream']}?after=${encodeURIComponent(after)}`);
    source.addEventListener('log', (event) => this.#append(parse(event)));
    source.addEventListener('progress', (event) => {
      const place = document.getElementById('progress');
      if (place) morph(place, parse(event));
    });
    source.addEventListener('end', () => {
      this.#close();
      delete this.#region.dataset['stream'];
      this.#ended();
    });
    this.#source = source;
  }

  #close() {
    this.#source?.close();
    this.#source = null;
  }

  /** @param {DocumentFragment} lines */
  #append(lines) {
    const panel = this.#region.querySelector('.log-panel');
    if (panel instanceof HTMLElement) panel.hidden = false;
    showTimes(lines);
    this.#region.querySelector('.log')?.append(lines);
  }
}

/** @param {MessageEvent} event */
function parse(event) {
  const template = document.createElement('template');
  template.innerHTML = String(JSON.parse(String(event.data)));
  return template.content;
}
