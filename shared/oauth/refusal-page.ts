import { Reply } from '../http/reply.ts'
import type { AuthorizationParameters } from './authorization-request.ts'
import type { Client } from './client.ts'

/** The page has no script, style or form, loads nothing, and is shown in no frame. */
const policy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const maxShownCharacters = 200

/** Escapes a text for HTML, and shortens a long one, because whoever made the link has chosen it. */
const show = (text: string): string => {
  const shown =
    text.length > maxShownCharacters ? `${text.slice(0, maxShownCharacters).toWellFormed()} …` : text
  return `<code><bdi>${shown.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)}</bdi></code>`
}

/** Says to the app's maker what is wrong with an authorization request's client or redirect URI. */
function explain({ client_id, redirect_uri }: AuthorizationParameters, client: Client | undefined): string {
  if (client_id === undefined) return 'The parameter <code>client_id</code> is missing, or was sent twice.'
  if (client === undefined) return `No app is registered under the <code>client_id</code> ${show(client_id)}.`
  if (redirect_uri === undefined)
    return 'The parameter <code>redirect_uri</code> is missing, or was sent twice.'
  return `The <code>redirect_uri</code> ${show(redirect_uri)} is not registered for the app ${show(client.name)}. A registered one must match it character for character; only the port of a loopback address may differ.`
}

/**
 * The page for a browser whose authorization request names no known client, or none of its redirect URIs. The
 * browser must not be sent to such an address (RFC 6749 §4.1.2.1), so only this page can say what is wrong.
 */
export const refusalPage = (parameters: AuthorizationParameters, client: Client | undefined): Reply =>
  new Reply(
    400,
    { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy },
    `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>This sign-in cannot begin</title>
<main>
<h1>This sign-in cannot begin</h1>
<p>The app that sent you here is not set up correctly. Go back to it; its makers can mend this.</p>
<h2>For the makers of the app</h2>
<p>${explain(parameters, client)}</p>
</main>
</html>
`,
  )
