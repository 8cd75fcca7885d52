/** A finding that stays, with the reason. */
export interface Waiver {
  readonly judge: string;
  readonly rule: string;
  /** Where in the document; default: everywhere. */
  readonly at?: RegExp;
  readonly reason: string;
}

/** Every finding that stays. One that no judge reports any more fails the lane. */
export const waivers: readonly Waiver[] = [
  { judge: 'redocly', rule: 'no-ambiguous-paths', reason: '`search` is never the id of an item.' },
];
