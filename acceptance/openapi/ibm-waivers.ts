/**
 * Reasons for waiving the IBM rules that contradict this API's conventions, by rule. The naming conventions are
 * configured in `judges/ibm.mjs`.
 *
 * A test requires a score of at least 88 out of 100. The conventions that the API's specification prescribes limit the
 * score to 89. ADR 19 lists the cost of each rule.
 */
export const ibmReasons: Readonly<Record<string, string>> = {
  'ibm-no-array-responses':
    'A list is a bare array; paging is in headers, so that a page contains items only.',
  'ibm-collection-array-property': 'A list is a bare array.',
  'ibm-requestbody-is-object': 'A bulk change is an array of items.',
  'ibm-resource-response-consistency':
    'GET may return selected fields; everything else returns the whole item, or an array for an array.',
  'ibm-no-ambiguous-paths': '`search` is never the id of an item.',
  'ibm-operationid-naming-convention': 'Operations are named after what they do: searchJobs, cancelJob.',
  'ibm-schema-naming-convention':
    'Schemas are named by one rule, item and call: OrderCreate, OrderReplace, OrderPatch.',
  'ibm-patch-request-content-type': 'A merge patch may also be sent as application/json.',
  'ibm-etag-header': 'Special operations have no GET; the ETag is that of the item.',
  'ibm-response-status-codes':
    'The caller chooses between 200 and 202 with Prefer, and 400 differs from 422.',
  'ibm-error-response-schemas': 'The error payload is part of the specification of this API.',
  'ibm-property-casing-convention': '`more info` is part of the error payload.',
  'ibm-avoid-multiple-types': 'Fields of log lines, and the JSON Schema of arguments, hold any JSON.',
  'ibm-array-attributes':
    'Bodies of 10,000 items are more than tools should generate, and stored lists are as long as they are (ADR 19).',
  'ibm-string-attributes': 'Stored text is as long as it is (ADR 19).',
  'ibm-schema-type-format': '`uri` is the format of JSON Schema for URLs.',
  'ibm-required-enum-properties-in-response': 'With `fields`, every member is optional.',
  'ibm-required-array-properties-in-response': 'With `fields`, every member is optional.',
  'ibm-unique-parameter-request-property-names': 'A full item has the field that is also in its path.',
  'ibm-avoid-repeating-path-parameters': 'A filter may have the name of a parameter of the path.',
  'ibm-avoid-inline-schemas': 'What says that two fields exclude each other needs no name.',
  'ibm-use-date-based-format': 'The id of an event only happens to be a time.',
};
