/**
 * The edge: reads what comes from outside, and writes what goes out, the same way for every surface.
 *
 * @module @longshore/edge
 */
export { brand } from './brand.js';
export { createApplication, networkOf } from './address.js';
export * from './operation-jobs.js'; // not by name, so that packages can add to the interface
export { beginSlice, inSlices, mapInSlices, nextTurn, turnIsOver } from './slices.js';
export {
  parseInteger,
  parseNumber,
  canonicalTime,
  completeTime,
  isDay,
  isTime,
  parseTime,
  parseTypedTime,
  parseUuid,
  type Uuid,
} from './scalars.js';
export {
  compareTexts,
  isStorable,
  printable,
  shorten,
  sortCollation,
  toStorable,
  decodePairs,
  decodePercent,
  UrlError,
} from './text.js';
export {
  allowedTypos,
  maxErrorText,
  nearestWord,
  spellingsInSlices,
  type Spelling,
  spellingsOf,
  typosIn,
  typosBetween,
} from './spellings.js';
export { type Attempt, Throttle, type ThrottlePolicy } from './throttle.js';
export { fold, jsonEscapes, jsonWords, wordPattern, wordsOf } from './words.js';
export { requestIdOf } from './request-id.js';
