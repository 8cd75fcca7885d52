/** Loaded before the tests: checks what they receive from an API against the document that it serves. */
import { checkFetchedAnswers } from '@longshore/test-support';

checkFetchedAnswers();
