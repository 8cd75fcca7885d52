/** The `package.json` fields that matter for publishing. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly files?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

export interface Package {
  /** The folder, relative to the root of the repository, such as `shared/jobs`. */
  readonly folder: string;
  readonly manifest: Manifest;
}

/** The fields of the root manifest that are added to every published manifest. */
export interface Publisher {
  readonly author: string;
  readonly homepage: string;
  readonly bugs: string;
  readonly repository: { readonly type: string; readonly url: string };
}

/** Fields that published manifests omit, because only the repository needs them. */
const ofTheRepository = new Set(['scripts', 'devDependencies', 'scarfSettings']);

/**
 * Returns the manifest to publish. Omits fields that only the repository needs, and the `source` conditions, because
 * the source files are not published. Adds the publisher's fields and an export of `package.json`. Pins packages of
 * this repository to exact versions.
 *
 * @param folder the package's folder in the repository
 * @param versions the versions of the packages of this repository, by name
 */
export function publishedManifest(
  manifest: Manifest,
  folder: string,
  { repository, ...publisher }: Publisher,
  versions: ReadonlyMap<string, string>,
): object {
  const { exports, dependencies, peerDependencies, ...rest } = manifest;
  const kept = Object.entries(rest).filter(([member]) => !ofTheRepository.has(member));
  return {
    ...Object.fromEntries(kept),
    ...publisher,
    repository: { ...repository, directory: folder },
    publishConfig: { access: 'public', provenance: true },
    ...(exports && { exports: withoutSource(exports) }),
    ...(dependencies && { dependencies: pinned(dependencies, versions) }),
    ...(peerDependencies && { peerDependencies: pinned(peerDependencies, versions) }),
  };
}

function withoutSource(exports: NonNullable<Manifest['exports']>): object {
  const entries = Object.entries(exports).map(([entry, target]): [string, string | object] => {
    if (typeof target === 'string') return [entry, target];
    const { source: _, ...conditions } = target;
    return [entry, conditions];
  });
  return Object.fromEntries<string | object>([...entries, ['./package.json', './package.json']]);
}

function pinned(
  ranges: Readonly<Record<string, string>>,
  versions: ReadonlyMap<string, string>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(ranges).map(([name, range]) => [name, versions.get(name) ?? range]),
  );
}
