/**
 * Returns the number of typos by which two words differ; `undefined` if more than `maxTypos`. Counts wrong, missing and
 * extra characters, and swapped neighbours (the optimal string alignment distance).
 *
 * Takes time in proportion to the length of the words times `maxTypos`: places that are further apart than `maxTypos` need
 * not be compared, because one typo moves the rest of a word by one place at most.
 */
export function typosBetween(one: string, other: string, maxTypos: number): number | undefined {
  if (Math.abs(one.length - other.length) > maxTypos) return undefined;
  const size = other.length + 1;
  let beforeLast = Array.from({ length: size }, () => Infinity);
  let last = Array.from({ length: size }, (_, place) => (place <= maxTypos ? place : Infinity));
  let current = Array.from({ length: size }, () => Infinity);
  for (let row = 1; row <= one.length; row++) {
    const [first, end] = [Math.max(1, row - maxTypos), Math.min(other.length, row + maxTypos)];
    current[first - 1] = first === 1 && row <= maxTypos ? row : Infinity;
    let least = at(current, first - 1);
    for (let place = first; place <= end; place++) {
      const isSame = one[row - 1] === other[place - 1];
      const isSwapped =
        row > 1 && place > 1 && one[row - 1] === other[place - 2] && one[row - 2] === other[place - 1];
      const typos = Math.min(
        place < row + maxTypos ? at(last, place) + 1 : Infinity,
        at(current, place - 1) + 1,
        at(last, place - 1) + (isSame ? 0 : 1),
        isSwapped ? at(beforeLast, place - 2) + 1 : Infinity,
      );
      current[place] = typos;
      least = Math.min(least, typos);
    }
    if (least > maxTypos) return undefined;
    [beforeLast, last, current] = [last, current, beforeLast];
  }
  const typos = at(last, other.length);
  return typos <= maxTypos ? typos : undefined;
}

function at(row: readonly number[], place: number): number {
  return row[place] ?? Infinity;
}
