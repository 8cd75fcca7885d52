/**
 * Maximum total size of the items of a page, in bytes of JSON. A page has at least one item, even if that item is
 * larger.
 */
export const maxPageBytes = 4 * 1024 * 1024;
