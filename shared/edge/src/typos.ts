/**
 * Returns the number of typos by which two words differ; `undefined` if more than `maxTypos`. Counts wrong, missing and
 * extra characters, and swapped neighbours (the optimal string alignment distance).
 */
export function typosBetween(one: string, other: string, maxTypos: number): number | undefined {
  if (Math.abs(one.length - other.length) > maxTypos) return undefined;
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, place) => place);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let place = 1; place <= other.length; place++) {
      const isSame = one[row - 1] === other[place - 1];
      const isSwapped =
        row > 1 && place > 1 && one[row - 1] === other[place - 2] && one[row - 2] === other[place - 1];
      current[place] = Math.min(
        at(last, place) + 1,
        at(current, place - 1) + 1,
        at(last, place - 1) + (isSame ? 0 : 1),
        isSwapped ? at(beforeLast, place - 2) + 1 : Infinity,
      );
    }
    if (Math.min(...current) > maxTypos) return undefined;
    beforeLast = last;
    last = current;
  }
  const typos = at(last, other.length);
  return typos <= maxTypos ? typos : undefined;
}

function at(row: readonly number[], place: number): number {
  return row[place] ?? Infinity;
}
