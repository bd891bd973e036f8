/** The knobs that every deployed stage must set. */
export const configured = { authUrl: 'https://auth.example.com/', mailFrom: 'no-reply@example.com' }
