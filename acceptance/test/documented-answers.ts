/**
 * Loaded before the tests, so that every response that they fetch from an API is checked against the API's OpenAPI
 * document.
 */
import { checkFetchedAnswers } from '@longshore/test-support';

checkFetchedAnswers();
