/** The value of an environment variable that the function cannot work without; throws, naming it, when it is missing. */
export function requireEnv(name: string): string {
  const value = process.env[name]
  if (value === undefined || value === '') throw new Error(`environment variable ${name} is not set`)
  return value
}
