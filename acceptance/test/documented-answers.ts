/** Loaded before the tests. Checks every API response that the tests fetch against the API's OpenAPI document. */
import { checkFetchedAnswers } from '@longshore/test-support';

checkFetchedAnswers();
