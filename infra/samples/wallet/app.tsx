import type { User } from 'oidc-client-ts'
import { Route, Router, useLocation } from 'preact-iso'
import { useEffect, useState } from 'preact/hooks'
import { onWait, queryClient } from './api.ts'
import { Community } from './community.tsx'
import { Deposits } from './deposits.tsx'
import { explanations } from './failures.ts'
import { Overview } from './overview.tsx'
import { Button, Icon } from './parts.tsx'
import { signIn, signOut, users } from './session.ts'
import { Wallets } from './wallets.tsx'

const pages = [
  { path: '/', title: 'Overview', icon: 'overview' },
  { path: '/wallets/asset', title: 'Wallets', icon: 'wallets' },
  { path: '/community', title: 'Community', icon: 'community' },
  { path: '/deposits', title: 'Deposits', icon: 'deposits' },
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
  const folder = useLocation().path.split('/')[1]
  const page = pages.find(({ path }) => path.split('/')[1] === folder) ?? pages[0]
  document.title = `${page.title} · Wallet`
  return (
    <div class="frame">
      <header class="bar">
        <a class="brand" href="/">
          <img src="/icon.svg" alt="" /> Wallet
        </a>
        <nav aria-label="Pages">
          {pages.map(({ path, title, icon }) => (
            <a key={path} href={path} aria-current={path === page.path ? 'page' : undefined}>
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
        <Busy />
        <Router onRouteChange={() => scrollTo(0, 0)}>
          <Route path="/wallets/:wallet" component={Wallets} />
          <Route path="/community" component={Community} />
          <Route path="/deposits" component={Deposits} />
          <Route default component={Overview} />
        </Router>
      </main>
    </div>
  )
}

/** Counts down while the app waits because the service was too busy. */
function Busy() {
  const [seconds, setSeconds] = useState(0)
  useEffect(() => {
    onWait((wait) => setSeconds((shown) => Math.max(shown, wait)))
    const timer = setInterval(() => setSeconds((shown) => Math.max(0, shown - 1)), 1000)
    return () => clearInterval(timer)
  }, [])
  return (
    <p class="busy" role="status">
      {seconds > 0 && `The service is busy. Trying again in ${seconds} s.`}
    </p>
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
