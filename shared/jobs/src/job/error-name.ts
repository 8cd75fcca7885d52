const builtIn: ReadonlySet<unknown> = new Set(
  [Error, AggregateError, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError].map(
    (type) => type.prototype,
  ),
);

/**
 * Returns the name of an error: its `name`, or the name of its class if neither the error nor its class sets `name`. A
 * class such as `class CardRefused extends Error {}` inherits the name `Error`, which says nothing.
 */
export function errorName(error: Error): unknown {
  const holder = prototypesOf(error).find((object) => Object.hasOwn(object, 'name'));
  return builtIn.has(holder) ? (classNameOf(error) ?? error.name) : error.name;
}

/** Returns the name of the most specific class that has one; `undefined` if none has. */
function classNameOf(error: Error): string | undefined {
  return prototypesOf(error)
    .slice(1)
    .map(({ constructor: { name } }) => name)
    .find((name) => typeof name === 'string' && name !== '');
}

/** Returns an error and its prototypes, from the most specific. */
function prototypesOf(error: Error): readonly object[] {
  const chain: object[] = [];
  for (let link: unknown = error; link instanceof Object; link = Object.getPrototypeOf(link))
    chain.push(link);
  return chain;
}
