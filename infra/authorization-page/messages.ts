import type { ApiFailure } from './api.ts'

const messages: Record<number, string> = {
  40000: 'Something on this page went wrong. Reload it and try again.',
  40001: 'Something you entered was not accepted. Check it and try again.',
  40002: 'This app is not registered, or its return address is not registered.',
  40005: 'The app asks for nothing that it may have here.',
  40100: 'Your sign-in has ended. Sign in again to continue.',
  40101: 'The email address or the password is not right.',
  40102: 'That took too long, or had too many tries. Sign in again to get a new code.',
  40103: 'That code is not right, or it is no longer valid. Check it and try again.',
  40300: 'This sign-in cannot be used here. Sign in again.',
  50000: 'Something went wrong on our side. Try again in a moment.',
}

/** Describes a failure of the API in a sentence for the user. */
export function explain(failure: ApiFailure, now = new Date()): string {
  if (failure.code === 0)
    return navigator.onLine
      ? 'The service cannot be reached right now. Nothing is lost: try again in a moment.'
      : 'You are offline. Reconnect and try again: nothing is lost.'
  if (failure.code === 42900)
    return `Too many sign-ins or wrong tries. For your safety, wait: try again ${describeWait(failure.retryAfterSeconds, now)}.`
  if (failure.code === 50300)
    return `The service is busy. Try again ${describeWait(failure.retryAfterSeconds, now)}.`
  if (failure.signInTooOld) return 'This app asks you to sign in again, to be sure that it is you.'
  return messages[failure.code] ?? 'Something unexpected happened. Try again in a moment.'
}

function describeWait(seconds: number | undefined, now: Date): string {
  if (seconds === undefined) return 'later'
  if (seconds <= 10) return 'in a few seconds'
  const at = new Date(now.getTime() + seconds * 1000).toLocaleTimeString([], {
    hour: '2-digit',
    minute: '2-digit',
  })
  if (seconds < 90) return `in about a minute (at ${at})`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 90 ? `in about ${minutes} minutes (at ${at})` : `after ${at}`
}
