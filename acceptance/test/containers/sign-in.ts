/** Signs in to the dashboard by submitting the form, as a browser does. Then returns the HTML of the overview. */
export async function signIn(dashboard: string, password: string): Promise<string> {
  const form = await fetch(dashboard);
  const cookies = form.headers.getSetCookie();
  const token = /name="token" value="([^"]+)"/.exec(await form.text())?.[1] ?? '';
  const answer = await fetch(`${dashboard}/sign-in`, {
    method: 'POST',
    headers: { origin: new URL(dashboard).origin, cookie: cookieHeader(cookies) },
    body: new URLSearchParams({ token, password, next: '' }),
    redirect: 'manual',
  });
  const session = cookieHeader([...cookies, ...answer.headers.getSetCookie()]);
  return (await fetch(dashboard, { headers: { cookie: session } })).text();
}

function cookieHeader(cookies: readonly string[]): string {
  return cookies.map((cookie) => cookie.split(';')[0]).join('; ');
}
