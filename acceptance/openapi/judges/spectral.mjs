// Prints what Spectral’s OpenAPI rules and OWASP’s find in the document in a file.
import { readFile } from 'node:fs/promises';
import spectral from '@stoplight/spectral-core';
import owasp from '@stoplight/spectral-owasp-ruleset';
import rulesets from '@stoplight/spectral-rulesets';

const linter = new spectral.Spectral();
linter.setRuleset({ extends: [rulesets.oas, owasp.default ?? owasp] });

/**
 * Runs a rule's function once per object of a document. With references resolved, shared parts occur in many operations,
 * and the rule on examples compiles their schemas each time: three quarters of the total time. Valid parts are therefore
 * checked only once.
 */
function once(check) {
  const valid = new Set();
  return (input, options, context) => {
    // The rule depends on whether the location is in a request or a response.
    const [root, ofComponents, , ofOperation] = context.path;
    const part = JSON.stringify([root, root === 'paths' ? ofOperation : ofComponents, input, options]);
    if (valid.has(part)) return undefined;
    const findings = check(input, options, context);
    if (Array.isArray(findings) && findings.length === 0) valid.add(part);
    return findings;
  };
}

const examples = linter.ruleset.rules['oas3-valid-media-example'].then;
for (const [place, step] of examples.entries()) examples[place] = { ...step, function: once(step.function) };

const findings = await linter.run(await readFile(process.argv[2], 'utf8'));
process.stdout.write(
  JSON.stringify(
    findings.map(({ code, message, path }) => ({ rule: String(code), message, at: path.join('/') })),
  ),
);
