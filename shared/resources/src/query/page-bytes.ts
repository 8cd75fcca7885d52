/** A page ends before its items take more bytes as JSON, though not before its first item. */
export const mostPageBytes = 4 * 1024 * 1024;
