const pattern = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-(?<channel>[a-z]+)\.(\d+))?$/;

/**
 * Returns the npm tag of a version: `latest`, or the channel of a prerelease, such as `beta` for `1.0.0-beta.2`.
 *
 * @throws {Error} if the version is neither a release nor such a prerelease
 */
export function npmTagOf(version: string): string {
  const { groups } = partsOf(version);
  return groups?.['channel'] ?? 'latest';
}

/**
 * Checks that a version is later than the previous one.
 *
 * @throws {Error} if it is not later, or if either is not a version
 */
export function checkFollows(version: string, previous: string): void {
  if (compare(version, previous) <= 0) throw new Error(`${version} does not follow ${previous}`);
}

function compare(one: string, other: string): number {
  const [left, right] = [partsOf(one), partsOf(other)];
  for (const index of [1, 2, 3]) {
    const difference = Number(left[index]) - Number(right[index]);
    if (difference !== 0) return difference;
  }
  const [channel, otherChannel] = [left[4], right[4]];
  if (channel !== otherChannel) {
    if (channel === undefined || otherChannel === undefined) return channel === undefined ? 1 : -1;
    return channel < otherChannel ? -1 : 1;
  }
  return Number(left[5] ?? 0) - Number(right[5] ?? 0);
}

function partsOf(version: string): RegExpExecArray {
  const parts = pattern.exec(version);
  if (parts === null) throw new Error(`${version} is not a version such as 1.2.3 or 1.2.3-beta.1`);
  return parts;
}
