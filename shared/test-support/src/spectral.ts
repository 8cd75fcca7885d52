import { Spectral, type Rule, type RulesetDefinition } from '@stoplight/spectral-core';
import owasp from '@stoplight/spectral-owasp-ruleset';
import { oas } from '@stoplight/spectral-rulesets';

type RulesetFunction = Rule['then'][number]['function'];

/** Rules that do not apply to one path, each with the reason. */
const waivedAt: Readonly<Record<string, readonly string[]>> = {
  // These are definitions of headers, not a response with headers.
  'components/headers': ['owasp:api8:2023-define-cors-origin'],
  // An API key's id is not secret.
  'paths//api-keys/{apiKeyId}': ['owasp:api2:2023-no-credentials-in-url'],
  // The index is public, and has no input.
  'paths///get': [
    'owasp:api2:2023-read-restricted',
    'owasp:api8:2023-define-error-responses-401',
    'owasp:api8:2023-define-error-validation',
  ],
  // The error pages are public, and have no input but the code.
  'paths//errors/{code}': [
    'owasp:api2:2023-read-restricted',
    'owasp:api4:2023-rate-limit',
    'owasp:api8:2023-define-error-responses-401',
    'owasp:api8:2023-define-error-validation',
  ],
};

/**
 * An array of a request may have more elements than a tool should generate: the limit is in words (ADR 19). The other bodies
 * and all parameters have their limits.
 */
function isLongArrayOfRequest({ code, place }: { readonly code: string; readonly place: string }): boolean {
  return code === 'owasp:api4:2023-array-limit' && /\/requestBody\/|schemas\/\w+Create/.test(place);
}

/**
 * Runs a rule's function once per object of a document. With references resolved, shared parts occur in many
 * operations, and the rule on examples compiles their schemas each time: three quarters of the total time. Valid
 * parts are therefore checked only once.
 */
function once(check: RulesetFunction): RulesetFunction {
  const well = new Set<string>();
  return (input, options, context) => {
    // The rule depends on whether the location is in a request or a response.
    const [root, ofComponents, , ofOperation] = context.path;
    const asked = JSON.stringify([root, root === 'paths' ? ofOperation : ofComponents, input, options]);
    if (well.has(asked)) return undefined;
    const findings = check(input, options, context);
    if (Array.isArray(findings) && findings.length === 0) well.add(asked);
    return findings;
  };
}

/**
 * Returns the findings of Spectral's OpenAPI rules and OWASP's, except those waived.
 *
 * @param waived rules that do not apply to this document, each with the reason
 */
export async function spectralFindings(
  document: string,
  waived: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const linter = new Spectral();
  const rules = Object.fromEntries(Object.keys(waived).map((rule) => [rule, 'off' as const]));
  linter.setRuleset({ extends: [oas as RulesetDefinition, owasp as unknown as RulesetDefinition], rules });
  const examples = linter.ruleset?.rules['oas3-valid-media-example']?.then ?? [];
  for (const [place, step] of examples.entries())
    examples[place] = { ...step, function: once(step.function) };
  const findings = await linter.run(document);
  return findings
    .map(({ code, message, path }) => ({ code: String(code), message, place: path.join('/') }))
    .filter(
      ({ code, place }) =>
        !isLongArrayOfRequest({ code, place }) &&
        !Object.entries(waivedAt).some(([at, codes]) => place.startsWith(at) && codes.includes(code)),
    )
    .map(({ code, message, place }) => `${code} ${message} ${place}`);
}
