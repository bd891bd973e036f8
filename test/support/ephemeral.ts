/** Options of a stack that runs beside others: free ports, and data in memory. */
export const ephemeral = {
  port: 0,
  awsPort: 0,
  pagePort: 0,
  appPort: 0,
  dataDirectory: undefined,
  dynamodbEndpoint: undefined,
}
