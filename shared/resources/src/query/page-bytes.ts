/** The maximum size of a page's items as JSON. A page has at least one item, even if that item is larger. */
export const maxPageBytes = 4 * 1024 * 1024;
