import { html, render, type TemplateResult } from 'lit-html'

/** A part of the console: its title, the path of its data below `/_local/`, and what draws the data. */
export interface Panel {
  title: string
  path: () => string
  draw: (data: never) => TemplateResult
}

/** Adds a panel to a column of the page. Returns a function that fetches the panel's data and draws it. */
export function addPanel([id, { title, path, draw }]: [string, Panel], index: number): () => Promise<void> {
  const article = Object.assign(document.createElement('article'), { id })
  document.querySelectorAll('main > div')[index < 2 ? 0 : 1]?.append(article)
  document.querySelector('nav')?.insertAdjacentHTML('beforeend', `<a href="#${id}">${title}</a>`)
  return async () => {
    const response = await fetch(path())
    if (!response.ok) throw new Error(`/_local/${path()} answered ${response.status}`)
    const body = draw((await response.json()) as never)
    render(
      html`<h2>${title}</h2>
        <p role="status"></p>
        ${body}`,
      article,
    )
  }
}

/**
 * Creates a button that runs `work`. Its panel then shows the text that `work` returned, or the error. All
 * panels fetch their data again.
 */
export function makeButton(label: string, work: () => Promise<string>, name = label): TemplateResult {
  const run = async ({ currentTarget }: Event) => {
    const status = (currentTarget as Element).closest('article')?.querySelector('h2 + p')
    if (!status || status.ariaBusy === 'true') return
    status.ariaBusy = 'true'
    Object.assign(status, { role: 'status', textContent: 'working …' })
    status.textContent = await work().catch((error: unknown) => {
      status.role = 'alert'
      return String(error)
    })
    status.ariaBusy = null
    dispatchEvent(new Event('changed'))
  }
  return html`<button type="button" aria-label=${name} @click=${run}>${label}</button>`
}

/** Runs `npm run ops -- COMMAND` on the stack. Throws the command's error message if there is no result. */
export async function operate<Result>(command: string, input = ''): Promise<Result> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch('ops', { method: 'POST', headers, body: JSON.stringify({ command, input }) })
  const { result, problem } = (await response.json()) as { result: Result | null; problem: string }
  if (result === null) throw new Error(problem)
  return result
}

/** Shows an instant in the browser's own date format. */
export function showInstant(milliseconds: number): TemplateResult {
  const date = new Date(milliseconds)
  return html`<time datetime=${date.toISOString()}>${date.toLocaleString()}</time>`
}
