/** Matches the heading of the section with unreleased changes. */
const heading = /^## Unreleased *$/m;

/**
 * Moves the unreleased changes into a section for a version, and leaves an empty section "Unreleased" above that
 * section.
 *
 * @param date such as `2027-01-31`
 * @throws {Error} if the section "Unreleased" is missing or empty
 */
export function withRelease(changelog: string, version: string, date: string): string {
  if (sectionOf(changelog, 'Unreleased') === '') throw new Error('CHANGELOG.md lists no unreleased changes');
  return changelog.replace(heading, `## Unreleased\n\n## ${version} - ${date}`);
}

/**
 * Returns the text below the heading of a version.
 *
 * @throws {Error} if the version has no section
 */
export function sectionOf(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.split(/\s/, 1)[0] === version);
  if (section === undefined) throw new Error(`CHANGELOG.md has no section for ${version}`);
  return section.slice(section.indexOf('\n') + 1).trim();
}
