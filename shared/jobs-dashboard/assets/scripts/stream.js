import { morph } from './morph.js';
import { showTimes } from './times.js';

const LONGEST_PAUSE_MS = 30_000;

/** Streams the log and progress of a running job while the page is visible and updates are not paused. */
export class Stream {
  #region;
  #ended;
  #visible = false;
  /** @type {EventSource | null} */
  #source = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #again;
  #failures = 0;

  /**
   * @param {HTMLElement} region contains the log; `data-stream` is the URL of the stream
   * @param {() => void} ended called when the job has finished or has been removed
   */
  constructor(region, ended) {
    this.#region = region;
    this.#ended = ended;
  }

  /** Whether the stream is connected. A region with a connected stream need not be polled. */
  get isOpen() {
    return this.#source?.readyState === EventSource.OPEN;
  }

  /** @param {boolean} visible `false` while the page is hidden or updates are paused */
  follow(visible) {
    if (visible === this.#visible) return;
    this.#visible = visible;
    if (visible) this.#open();
    else this.#close();
  }

  #open() {
    const last = [...this.#region.querySelectorAll('.log > [data-key]')].at(-1);
    const after = last?.getAttribute('data-key') ?? '';
    const source = new EventSource(`${this.#region.dataset['stream']}?after=${encodeURIComponent(after)}`);
    source.addEventListener('open', () => (this.#failures = 0));
    source.addEventListener('error', () => {
      if (source.readyState === EventSource.CLOSED) this.#retry();
    });
    source.addEventListener('log', (event) => this.#append(parse(event)));
    source.addEventListener('progress', (event) => {
      const place = document.getElementById('progress');
      if (place) morph(place, parse(event));
    });
    source.addEventListener('end', () => {
      this.#close();
      this.#ended();
    });
    this.#source = source;
  }

  /**
   * Reconnects after a pause. Browsers do not reconnect after a status other than 200. A proxy can send such a status
   * during a restart. The server sends one while the job is waiting, or if too many streams are open.
   */
  #retry() {
    this.#close();
    const pauseMs = Math.min(1_000 * 2 ** this.#failures, LONGEST_PAUSE_MS);
    this.#failures += 1;
    this.#again = setTimeout(() => this.#open(), pauseMs);
  }

  #close() {
    clearTimeout(this.#again);
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
