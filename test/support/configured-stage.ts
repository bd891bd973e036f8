/** The least that a stage which is deployed must configure. */
export const configured = { authUrl: 'https://auth.example.com/', mailFrom: 'no-reply@example.com' }
