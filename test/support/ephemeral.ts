/** How a stack is started beside any others: on free ports, its data gone with it. */
export const ephemeral = {
  port: 0,
  awsPort: 0,
  pagePort: 0,
  dataDirectory: undefined,
  dynamodbEndpoint: undefined,
}
