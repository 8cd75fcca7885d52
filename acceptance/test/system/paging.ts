/** Returns the URL of the next page from the `Link` header; `null` on the last page. */
export function nextPage(response: Response): string | null {
  return /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1] ?? null;
}
