// Prints the findings of Spectral’s OpenAPI rules and of the OWASP rules for the document in a file.
import { readFile } from 'node:fs/promises';
import spectral from '@stoplight/spectral-core';
import owasp from '@stoplight/spectral-owasp-ruleset';
import rulesets from '@stoplight/spectral-rulesets';

const linter = new spectral.Spectral();
linter.setRuleset({ extends: [rulesets.oas, owasp.default ?? owasp] });

/**
 * Wraps a rule's function so that it checks each valid part of a document only once. With references resolved, a shared
 * part occurs in many operations. The rule for examples would compile the part's schema each time, which is slow.
 */
function once(check) {
  const valid = new Set();
  return (input, options, context) => {
    // The key includes the kind of location, because the rule treats requests and responses differently.
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
