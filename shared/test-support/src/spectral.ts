import { Spectral, type RulesetDefinition } from '@stoplight/spectral-core';
import owasp from '@stoplight/spectral-owasp-ruleset';
import { oas } from '@stoplight/spectral-rulesets';

/** Rules that do not hold for one path, each with its reason. */
const waivedAt: Readonly<Record<string, readonly string[]>> = {
  // Not a response, whose headers the rule means, but the definitions of the headers themselves.
  'components/headers': ['owasp:api8:2023-define-cors-origin'],
  // The id of an API key, which is no secret.
  'paths//api-keys/{apiKeyId}': ['owasp:api2:2023-no-credentials-in-url'],
  // The pages that explain the error codes are for everybody, and take no input but the code.
  'paths//errors/{code}': [
    'owasp:api2:2023-read-restricted',
    'owasp:api4:2023-rate-limit',
    'owasp:api8:2023-define-error-responses-401',
    'owasp:api8:2023-define-error-validation',
  ],
};

/**
 * What Spectral's OpenAPI rules and OWASP's find in a document, but for what is waived at single paths.
 *
 * @param waived rules that do not hold for this document, each with its reason
 */
export async function spectralFindings(
  document: string,
  waived: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const linter = new Spectral();
  const rules = Object.fromEntries(Object.keys(waived).map((rule) => [rule, 'off' as const]));
  linter.setRuleset({ extends: [oas as RulesetDefinition, owasp as unknown as RulesetDefinition], rules });
  const findings = await linter.run(document);
  return findings
    .map(({ code, message, path }) => ({ code: String(code), message, place: path.join('/') }))
    .filter(
      ({ code, place }) =>
        !Object.entries(waivedAt).some(([at, codes]) => place.startsWith(at) && codes.includes(code)),
    )
    .map(({ code, message, place }) => `${code} ${message} ${place}`);
}
