import { make } from '../../../../authorization-page/dom.ts'
import { makePanel, makeTable } from '../view.ts'
import { showChanges } from './read-local.ts'

/** The answer of `/_local/stack`. */
export interface Stack {
  base_url: string
  auth_url: string
  aws_endpoint: string
  event_bus: string
  table: string
  first_party_client_id: string
  functions: { name: string; route?: string }[]
}

const link = (href: string) => make('a', { href }, href)
const code = (text: string) => make('code', {}, text)

/** Where everything answers, and every function with its route. */
export function makeFacts(): { element: HTMLElement; show: (stack: Stack) => void } {
  const panel = makePanel('facts', 'What runs')
  const show = showChanges((stack: Stack) => {
    const facts: Record<string, HTMLElement> = {
      API: link(stack.base_url),
      'API reference': make('a', { href: '/_local/docs' }, 'every endpoint, with examples'),
      'Authorization page': link(stack.auth_url),
      'AWS endpoint': code(stack.aws_endpoint),
      'Event bus': code(stack.event_bus),
      Table: code(stack.table),
      'First-party client': code(stack.first_party_client_id),
    }
    const functions = makeTable(
      'Functions',
      [
        { head: 'Function', cell: ({ name }) => code(name) },
        { head: 'Route', cell: ({ route }) => route ?? '' },
      ],
      stack.functions,
      'None.',
    )
    panel.body.replaceChildren(
      make(
        'dl',
        { class: 'facts' },
        ...Object.entries(facts).flatMap(([name, value]) => [make('dt', {}, name), make('dd', {}, value)]),
      ),
      make('details', {}, make('summary', {}, `${stack.functions.length} functions`), functions),
    )
  })
  return { element: panel.element, show }
}
