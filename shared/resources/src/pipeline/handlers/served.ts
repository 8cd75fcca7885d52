/**
 * The result of a storage function. The method stage lets only calls through whose function is there, so its
 * absence is a defect.
 */
export async function served<Result>(result: Promise<Result> | undefined): Promise<Result> {
  if (result === undefined) throw new Error('the storage lacks the function that serves this call');
  return result;
}
