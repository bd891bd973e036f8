// Uses the client that openapi-generator generates for Go: signs in, reads, and meets a failure.
package main

import (
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"

	"program/client"
)

func main() {
	url, email, password, code := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	config := client.NewConfiguration()
	config.Servers = client.ServerConfigurations{{URL: url}}
	api := client.NewAPIClient(config)
	ctx := context.Background()

	login := client.NewLoginForm(email, fmt.Sprintf("%x", md5.Sum([]byte(password))))
	ticket := must(api.PasswordSignInAPI.PostUserLoginWithPassword(ctx).LoginForm(*login).Execute()).Data
	verification := client.NewLoginVerifyForm(email, ticket.LoginTicket, "AUTHENTICATOR")
	verification.SetAuthenticatorCode(code)
	user := must(api.PasswordSignInAPI.PostUserLogin2fa(ctx).LoginVerifyForm(*verification).Execute()).Data
	ctx = context.WithValue(ctx, client.ContextAccessToken, user.AccessToken)

	account := must(api.AssetWalletAPI.GetAccountInfo(ctx).Currency("USDT").Execute()).Data[0]
	bill := must(api.AssetWalletAPI.GetAccountBills(ctx).Current(1).Size(5).Execute()).Data.Records[0]
	member := must(api.CommunityAPI.GetCommunityMembers(ctx).Current(1).Size(5).Execute()).Data.Records[0]
	overview := must(api.DashboardAPI.GetDashboardOverview(ctx).Execute()).Data
	fmt.Printf("%T %s %s %s ", account.Balance, account.Balance, bill.Amount, member.Nickname)

	_, _, err := api.DepositsAPI.GetAddressInfo(ctx).Currency("NONE").CurrencyNetWork("NONE").Execute()
	var refused *client.GenericOpenAPIError
	if !errors.As(err, &refused) {
		log.Fatal("an unknown currency was not refused")
	}
	failure := refused.Model().(client.Failure)
	fmt.Println(overview.Balances[0].Balance, failure.Code, failure.Data.Get().Errors[0].Field)
}

// must returns the answer of a request. It ends the program if the request failed.
func must[T any](answer T, _ *http.Response, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return answer
}
