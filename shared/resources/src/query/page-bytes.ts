/** Maximum total size of the items of a page, in bytes of JSON. A single item can be larger. */
export const maxPageBytes = 4 * 1024 * 1024;
