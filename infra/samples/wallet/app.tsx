import type { User } from 'oidc-client-ts'
import { useLocation } from 'preact-iso'
import { useEffect, useState } from 'preact/hooks'
import { queryClient } from './api.ts'
import { Community } from './community.tsx'
import { Deposits } from './deposits.tsx'
import { explanations } from './failures.ts'
import { Overview } from './overview.tsx'
import { Button, Icon } from './parts.tsx'
import { signIn, signOut, users } from './session.ts'
import { Wallets } from './wallets.tsx'

const pages = [
  { path: '/', title: 'Overview', icon: 'overview', component: Overview },
  { path: '/wallets', title: 'Wallets', icon: 'wallets', component: Wallets },
  { path: '/community', title: 'Community', icon: 'community', component: Community },
  { path: '/deposits', title: 'Deposits', icon: 'deposits', component: Deposits },
] as const

/** The app: the sign-in, or the pages of a signed-in user. */
export function App({ user, problem }: { user: User | null; problem: string }) {
  const [hasEnded, setEnded] = useState(false)
  useEffect(
    () =>
      users.events.addUserUnloaded(() => {
        queryClient.clear()
        setEnded(true)
      }),
    [],
  )
  return user && !hasEnded ? <SignedIn user={user} /> : <SignIn hasEnded={hasEnded} problem={problem} />
}

function SignedIn({ user: { profile } }: { user: User }) {
  const { path: open } = useLocation()
  const page = pages.find(({ path }) => path === open) ?? pages[0]
  useEffect(() => scrollTo(0, 0), [page])
  document.title = `${page.title} · Wallet`
  return (
    <div class="frame">
      <header class="bar">
        <a class="brand contrast" href="/">
          <img src="/icon.svg" alt="" /> Wallet
        </a>
        <nav aria-label="Pages">
          {pages.map(({ path, title, icon }) => (
            <a
              class="secondary"
              key={path}
              href={path}
              aria-current={path === page.path ? 'page' : undefined}
            >
              <Icon name={icon} /> {title}
            </a>
          ))}
        </nav>
        <div class="account">
          <p>
            <bdi>{profile.name}</bdi>
            <small>{profile.email}</small>
          </p>
          <Button aria-label="Sign out" title="Sign out" onClick={() => void signOut()}>
            <Icon name="leave" />
          </Button>
        </div>
      </header>
      <main>
        <page.component />
      </main>
    </div>
  )
}

const welcome = ['Your wallet, community and rewards', 'What you hold and earn, and the people you invited.']
const farewell = ['Your session has ended', 'Nothing is lost. Sign in again to go on where you were.']

function SignIn({ hasEnded, problem }: { hasEnded: boolean; problem: string }) {
  const [message, setMessage] = useState(problem)
  const [title, text] = hasEnded ? farewell : welcome
  const start = () => void signIn().catch(() => setMessage(explanations[0] ?? ''))
  document.title = 'Sign in · Wallet'
  return (
    <main class="welcome">
      <article>
        <img src="/icon.svg" alt="" />
        <h1>{title}</h1>
        <p>{text}</p>
        <p role="alert">{message}</p>
        <button onClick={start}>Sign in</button>
        <small>You sign in at the service itself. This app never sees your password.</small>
      </article>
    </main>
  )
}
