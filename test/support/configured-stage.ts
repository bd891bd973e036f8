/** The settings that every deployed stage must have. */
export const configured = { authUrl: 'https://auth.example.com/', mailFrom: 'no-reply@example.com' }
