import { QueryClientProvider } from '@tanstack/preact-query'
import { render } from 'preact'
import { LocationProvider } from 'preact-iso'
import { queryClient } from './api.ts'
import { App } from './app.tsx'
import { finishSignIn, users } from './session.ts'

const problem = await finishSignIn()
const user = await users.getUser()
render(
  <LocationProvider>
    <QueryClientProvider client={queryClient}>
      <App user={user?.expired ? null : user} problem={problem} />
    </QueryClientProvider>
  </LocationProvider>,
  document.body,
)
