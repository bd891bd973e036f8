// Uses the client that openapi-generator generates for Java: signs in, reads, and meets a failure.
import client.*;
import client.model.*;
import java.math.BigInteger;
import java.security.MessageDigest;

public class Program {
  public static void main(String[] args) throws Exception {
    ApiClient api = new ApiClient();
    api.updateBaseUri(args[0]);
    PasswordSignInApi signIn = new PasswordSignInApi(api);
    byte[] digest = MessageDigest.getInstance("MD5").digest(args[2].getBytes("UTF-8"));
    String password = String.format("%032x", new BigInteger(1, digest));
    LoginForm login = new LoginForm().email(args[1]).loginPassword(password);
    LoginResultVO ticket = signIn.postUserLoginWithPassword(login).getData();
    LoginVerifyForm verification =
        new LoginVerifyForm()
            .email(args[1])
            .loginTicket(ticket.getLoginTicket())
            .method(LoginVerifyForm.MethodEnum.AUTHENTICATOR)
            .authenticatorCode(args[3]);
    UserDetails user = signIn.postUserLogin2fa(verification).getData();
    api.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + user.getAccessToken()));

    AssetWalletApi wallet = new AssetWalletApi(api);
    Account account = wallet.getAccountInfo("USDT").getData().get(0);
    BillPage bills = wallet.getAccountBills(1, 5, null, null, null, null, null).getData();
    CommunityMemberPage members = new CommunityApi(api).getCommunityMembers(1, 5, null, null, null, null).getData();
    DashboardOverviewVO overview = new DashboardApi(api).getDashboardOverview().getData();
    System.out.printf("%s %s ", account.getBalance().getClass().getSimpleName(), account.getBalance());
    System.out.printf("%s %s ", bills.getRecords().get(0).getAmount(), members.getRecords().get(0).getNickname());
    try {
      new DepositsApi(api).getAddressInfo("NONE", "NONE");
    } catch (ApiException refused) {
      Failure failure = api.getObjectMapper().readValue(refused.getResponseBody(), Failure.class);
      System.out.printf("%s %d ", overview.getBalances().get(0).getBalance(), failure.getCode());
      System.out.println(failure.getData().getErrors().get(0).getField());
    }
  }
}
