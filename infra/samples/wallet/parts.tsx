import { useMutation, type UseQueryResult } from '@tanstack/preact-query'
import type { ButtonHTMLAttributes, ComponentChildren as Children } from 'preact'
import { type Answer, saveFile, waitOf } from './api.ts'
import { type Amount, formatAmount, showName } from './format.ts'

const icons = {
  overview: 'M4 20V10M10 20V4M16 20v-7M21 20H3',
  wallets: 'M3 7.5h15.5A2.5 2.5 0 0 1 21 10v8a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2zl12-3.5v3.5M16.5 14h.01',
  community:
    'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20a6.5 6.5 0 0 1 13 0M16 4.3a3.5 3.5 0 0 1 0 6.4M18.5 14.5a6.5 6.5 0 0 1 3 5.5',
  deposits: 'M12 3v11M7.5 10l4.5 4.5 4.5-4.5M4 16v2.5A2.5 2.5 0 0 0 6.5 21h11a2.5 2.5 0 0 0 2.5-2.5V16',
  leave: 'M14 8V4H4v16h10v-4M10 12h11M18 9l3 3-3 3',
  save: 'M12 4v10M8 10.5l4 4 4-4M5 19h14',
  copy: 'M9 9h11v11H9zM15 9V4H4v11h5',
  alert: 'M12 7v6M12 16.5v.01M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18z',
}

/** An icon. It only decorates the text beside it. */
export const Icon = ({ name }: { name: keyof typeof icons }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <path d={icons[name]} />
  </svg>
)

/** A button that is not the main one of its page. */
export const Button = (props: ButtonHTMLAttributes) => (
  <button type="button" class="outline secondary" {...props} />
)

type MoneyProps = { amount: Amount | null | undefined; currency?: string; sign?: string }

/** An exact amount with all its digits; the fraction is less prominent. */
export function Money({ amount, currency, sign = '' }: MoneyProps) {
  if (amount == null) return <span class="quiet">—</span>
  return (
    <span>
      {sign}
      {formatAmount(amount).map(({ type, value }) => (
        <span class={type}>{value}</span>
      ))}
      {currency && <span class="unit"> {currency}</span>}
    </span>
  )
}

/** What a row is about, and below it what tells it from others. */
export const Heading = ({ main, detail }: { main: string; detail: string }) => (
  <>
    <strong>
      <bdi>{main}</bdi>
    </strong>
    <small>
      <bdi>{detail}</bdi>
    </small>
  </>
)

/** How far a deposit or a withdrawal has come. */
export const Status = ({ status }: { status: string }) => (
  <span class={`pill is-${status.toLowerCase()}`}>{showName(status)}</span>
)

/** A titled part of a page; `actions` stand at the end of the title's line. */
export const Card = (props: { title: string; actions?: Children; kind?: string; children: Children }) => (
  <article class={props.kind} aria-label={props.title}>
    <header>
      <h2>{props.title}</h2>
      {props.actions}
    </header>
    {props.children}
  </article>
)

/** Says what failed, and offers to try again. */
export const Failed = ({ error, retry }: { error: Error; retry?: () => unknown }) => (
  <div class="failed" role="alert">
    <Icon name="alert" />
    <p>{error.message}</p>
    {retry && <Button onClick={() => void retry()}>Try again</Button>}
  </div>
)

interface LoadedProps<Data> {
  query: UseQueryResult<Data>
  /** Height of what is to come, in lines, so that the page does not jump when it comes. */
  lines?: number
  children: (data: Data) => Children
}

/** Shows the answer of a query: a placeholder before it, and what failed instead of it or above it. */
export const Loaded = <Data,>({ query, lines = 3, children }: LoadedProps<Data>) => (
  <>
    {query.error && <Failed error={query.error} retry={query.refetch} />}
    {query.data !== undefined && children(query.data)}
    {query.isFetching && query.failureReason && (
      <p role="status">{`The service is busy. Trying again in ${waitOf(query.failureReason)} s.`}</p>
    )}
    {query.isPending && (
      <div class="loading" role="status" aria-label="Loading" style={{ height: `${lines * 1.5}rem` }} />
    )}
  </>
)

/** A button that saves a list as a CSV file. `request` asks for the CSV. */
export function SaveButton({ name, request }: { name: string; request: () => Answer<Blob> }) {
  const { mutate, isPending, error } = useMutation({ mutationFn: () => saveFile(request(), name) })
  return (
    <>
      {error && <Failed error={error} />}
      <Button aria-busy={isPending} onClick={() => mutate()}>
        <Icon name="save" /> Save as CSV
      </Button>
    </>
  )
}
