/** SQL that does what `errorFingerprint` does in TypeScript, given the expression of an error. */
export const fingerprintOfError = (error: string): string => `longshore.error_fingerprint(${error})`;
