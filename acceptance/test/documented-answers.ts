/** Is loaded before the tests. Checks every response that they fetch from an API against the API's OpenAPI document. */
import { checkFetchedAnswers } from '@longshore/test-support';

checkFetchedAnswers();
