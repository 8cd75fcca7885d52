// Prints the findings of IBM’s rules for the document in a file, and the score that IBM’s validator gives the document.
// The case of names is checked against this API’s conventions instead of IBM’s.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import ibm from '@ibm-cloud/openapi-ruleset';
import spectral from '@stoplight/spectral-core';
import parsers from '@stoplight/spectral-parsers';

const require = createRequire(import.meta.url);
const { computeMetrics } = require('ibm-openapi-validator/src/scoring-tool/compute-metrics.js');
const { scoreResults } = require('ibm-openapi-validator/src/scoring-tool/score.js');

const [file] = process.argv.slice(2);

/** Returns a ruleset entry for the IBM rule `name` with the given options. */
function configured(name, functionOptions) {
  const rule = ibm.rules[name];
  return { [name]: { ...rule, then: { ...rule.then, functionOptions } } };
}

const linter = new spectral.Spectral();
linter.setRuleset({
  extends: ibm,
  rules: {
    ...configured('ibm-property-casing-convention', { type: 'camel' }),
    ...configured('ibm-parameter-casing-convention', {
      ...ibm.rules['ibm-parameter-casing-convention'].then.functionOptions,
      query: { type: 'camel' },
      path: { type: 'camel' },
    }),
    ...configured('ibm-operationid-casing-convention', { type: 'camel' }),
    ...configured('ibm-path-segment-casing-convention', { type: 'kebab' }),
    // Checks only the verb, because the rule would prefer names in snake case.
    ...configured('ibm-operationid-naming-convention', { strict: false }),
    // Off, because the values of `sort` are field names with an optional sign.
    'ibm-enum-casing-convention': 'off',
    // Off, because every item has all fields. Fields without a value are null.
    'ibm-no-nullable-properties': 'off',
    // Off, because this rule is for OpenAPI 3.0; version 3.1 allows siblings of `$ref`.
    'no-$ref-siblings': 'off',
    // Off, because the Spectral judge already checks the examples, and these two rules are slow.
    'oas3-valid-media-example': 'off',
    'oas3-valid-schema-example': 'off',
  },
});

const errorOrWarning = 1;
const document = new spectral.Document(await readFile(file, 'utf8'), parsers.Json, file);
/** Whether the finding is about the index path, `/`. The rule mistakes this path for a parameter. */
const isAboutIndex = ({ code, message }) => code === 'ibm-no-ambiguous-paths' && message.endsWith(", '/'");
const findings = (await linter.run(document))
  .filter((finding) => finding.severity <= errorOrWarning && !isAboutIndex(finding))
  .map(({ code, message, path }) => ({ rule: String(code), message, at: path.join('/') }));
const metrics = await computeMetrics(document.data);
const score = (results) =>
  scoreResults({ error: { results }, warning: { results: [] } }, metrics, { debug: () => {} })
    .categorizedSummary;
process.stdout.write(JSON.stringify({ findings, score: score(findings) }));
